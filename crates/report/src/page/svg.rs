//! A drawing that is as wide as its container. Horizontal positions are percentages of the width, vertical
//! positions are pixels. Text therefore keeps its size on a phone and on a wide screen, and nothing is cut.

use crate::axis::{Axis, Ticks};
use crate::text::{bounded, html, put};

/// The left and right ends of a horizontal axis, in per cent. They leave room for the marks at the ends.
pub(crate) const LEFT: f64 = 1.0;
pub(crate) const RIGHT: f64 = 99.0;

/// Height of the line of ticks below a drawing.
const TICKS: f64 = 20.0;
/// Width of a tick's letter on the narrowest page, in per cent of the width next to a scale: 7 of 270 pixels.
/// A tick that would touch the previous one is not written.
const LETTER: f64 = 2.6;

/// A drawing under construction. Classes and numbers are Fathom's own; texts are escaped here.
pub(crate) struct Svg {
    out: String,
    /// The unit after a horizontal position.
    unit: &'static str,
}

impl Svg {
    pub(crate) fn new() -> Svg {
        Svg {
            out: String::new(),
            unit: "%",
        }
    }

    /// Creates a drawing for a separate file. Horizontal positions are in pixels, like vertical ones.
    pub(crate) fn alone() -> Svg {
        Svg {
            unit: "",
            ..Svg::new()
        }
    }

    /// Adds a text. Its `class` determines which part of it is at `x`: the start, the middle (`middle`), or
    /// the end (`end`).
    pub(crate) fn text(&mut self, x: f64, y: f64, class: &str, text: &str) {
        self.titled_text(x, y, class, text, "");
    }

    /// Adds a text with a tooltip.
    pub(crate) fn titled_text(&mut self, x: f64, y: f64, class: &str, text: &str, title: &str) {
        put!(
            self.out,
            "<text class=\"{class}\" x=\"{x:.2}{}\" y=\"{y:.1}\">{}{}</text>\n",
            self.unit,
            html(text),
            titled(title)
        );
    }

    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str, title: &str) {
        put!(
            self.out,
            "<line class=\"{class}\" x1=\"{:.2}{unit}\" y1=\"{:.1}\" x2=\"{:.2}{unit}\" y2=\"{:.1}\">{}</line>\n",
            from.0,
            from.1,
            to.0,
            to.1,
            titled(title),
            unit = self.unit
        );
    }

    pub(crate) fn dot(&mut self, at: (f64, f64), radius: f64, class: &str, title: &str) {
        put!(
            self.out,
            "<circle class=\"{class}\" cx=\"{:.2}{}\" cy=\"{:.1}\" r=\"{radius}\">{}</circle>\n",
            at.0,
            self.unit,
            at.1,
            titled(title)
        );
    }

    /// Adds a dot that can also be reached with the keyboard.
    pub(crate) fn stop(&mut self, at: (f64, f64), radius: f64, class: &str, title: &str) {
        put!(
            self.out,
            "<circle tabindex=\"0\" role=\"img\" aria-label=\"{0}\" class=\"{class}\" cx=\"{1:.2}%\" cy=\"{2:.1}\" r=\"{radius}\"><title>{0}</title></circle>\n",
            html(title),
            at.0,
            at.1,
        );
    }

    /// Adds a box from `from` to `to` horizontally.
    pub(crate) fn area(
        &mut self,
        (from, to): (f64, f64),
        (top, height): (f64, f64),
        class: &str,
        title: &str,
    ) {
        put!(
            self.out,
            "<rect class=\"{class}\" x=\"{from:.3}%\" y=\"{top:.1}\" width=\"{:.3}%\" height=\"{height:.1}\">{}</rect>\n",
            (to - from).max(0.0),
            titled(title)
        );
    }

    /// Adds a line through `points` in a drawing of this height; `closed` fills the area below it.
    pub(crate) fn curve(&mut self, points: &[(f64, f64)], height: f64, class: &str, closed: bool) {
        // A path can't have coordinates in per cent, so a nested drawing has its own.
        let path: Vec<String> = points
            .iter()
            .map(|(x, y)| format!("{x:.2} {y:.1}"))
            .collect();
        put!(
            self.out,
            "<svg width=\"100%\" height=\"{height}\" viewBox=\"0 0 100 {height}\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><path class=\"{class}\" d=\"M{}{}\"/></svg>\n",
            path.join("L"),
            if closed { "Z" } else { "" }
        );
    }

    /// Begins a group that ends at [`Svg::end_group`].
    pub(crate) fn begin_group(&mut self, class: &str) {
        put!(self.out, "<g class=\"{class}\">\n");
    }

    pub(crate) fn end_group(&mut self) {
        self.out.push_str("</g>\n");
    }

    /// Adds the untrusted name of a row twice: with as many letters as fit on a wide page, and shortened for
    /// a narrow one.
    pub(crate) fn name(&mut self, y: f64, name: &str) {
        let (wide, narrow) = (bounded(name, 72), bounded(name, 36));
        if wide == narrow {
            self.text(0.0, y, "name", &wide);
        } else {
            self.text(0.0, y, "name wide", &wide);
            self.text(0.0, y, "name narrow", &narrow);
        }
    }

    /// Adds the lines of a horizontal axis from `top` to `bottom`, and its ticks below.
    pub(crate) fn across(&mut self, axis: &Axis, ticks: &Ticks, (top, bottom): (f64, f64)) {
        let mut free = f64::NEG_INFINITY;
        for (tick, text) in ticks {
            let x = axis.place(*tick);
            self.line((x, top), (x, bottom), "grid", "");
            let wide = text.chars().count() as f64 * LETTER;
            let (class, begin) = match x {
                x if x < 8.0 => ("axis", x),
                x if x > 92.0 => ("axis end", x - wide),
                _ => ("axis middle", x - wide / 2.0),
            };
            let class = match begin > free {
                true => class.to_owned(),
                false => format!("{class} spare"),
            };
            if begin > free {
                free = begin + wide + LETTER / 2.0;
            }
            self.text(x, bottom + TICKS - 6.0, &class, text);
        }
    }

    /// Returns the height of the ticks below a drawing by [`Svg::across`].
    pub(crate) const fn ticks_height() -> f64 {
        TICKS
    }

    /// Returns the drawing, with a description for users who can't see it.
    pub(crate) fn finish(self, height: f64, label: &str) -> String {
        format!(
            "<svg class=\"plot\" width=\"100%\" height=\"{height}\" role=\"group\" aria-label=\"{}\">\n{}</svg>\n",
            html(label),
            self.out
        )
    }

    /// Returns the drawing as a self-contained file with its own `style`.
    pub(crate) fn finish_alone(
        self,
        (width, height): (f64, f64),
        style: &str,
        label: &str,
    ) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" aria-label=\"{}\">\n{style}{}</svg>\n",
            html(label),
            self.out
        )
    }
}

fn titled(title: &str) -> String {
    match title {
        "" => String::new(),
        title => format!("<title>{}</title>", html(title)),
    }
}

/// Formats the legend below a drawing: class and name of each color. Names are untrusted.
pub(crate) fn legend<'a>(entries: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut out = String::from("<ul class=\"legend\">\n");
    for (class, name) in entries {
        put!(
            out,
            "<li><svg class=\"swatch\" width=\"14\" height=\"12\" aria-hidden=\"true\"><rect class=\"{class}\" width=\"14\" height=\"12\"/></svg> {}</li>\n",
            crate::text::name(name)
        );
    }
    out.push_str("</ul>\n");
    out
}

/// Formats a drawing with its caption, in a frame.
pub(crate) fn figure(drawing: &str, caption: &str) -> String {
    let caption = match caption {
        "" => String::new(),
        caption => format!("<figcaption>{}</figcaption>", crate::text::words(caption)),
    };
    format!("<figure class=\"chart\">{drawing}{caption}</figure>\n")
}

/// Returns the class of the line or dot with this index; the classes repeat.
pub(crate) fn colour(index: usize) -> &'static str {
    ["c0", "c1", "c2", "c3", "c4", "c5"][index % 6]
}
