//! The scale on which values are compared. If all are positive, it is logarithmic, so that differences are
//! ratios.

/// A series, or the end of one, on the scale on which its levels are compared.
pub(super) struct Levels {
    /// The values or their logarithms.
    pub(super) values: Vec<f64>,
    /// Whether `values` are logarithms.
    pub(super) logarithms: bool,
}

impl Levels {
    /// Converts the values from `start` on. All values determine the scale, so it doesn't depend on `start`.
    pub(super) fn of(values: &[f64], start: usize) -> Levels {
        assert!(
            values.iter().all(|value| value.is_finite()),
            "a value of a series is not finite"
        );
        let logarithms = values.iter().all(|value| *value > 0.0);
        let scaled = |value: &f64| if logarithms { value.ln() } else { *value };
        Levels {
            values: values[start..].iter().map(scaled).collect(),
            logarithms,
        }
    }

    /// Converts back to the unit of the series.
    pub(super) fn in_unit(&self, level: f64) -> f64 {
        if self.logarithms { level.exp() } else { level }
    }
}
