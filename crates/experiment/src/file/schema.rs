//! The schema of the experiment file, `docs/json-schema/experiment.schema.json`. It is generated from the
//! types that read the file. `FATHOM_WRITE_SCHEMAS=1 cargo test -p fathom-experiment schema` writes it.

use std::borrow::Cow;

use fathom_model::Layer;
use fathom_test_schemas::{Schema, assert_committed, assert_described};
use schemars::{JsonSchema, SchemaGenerator, json_schema};

use super::experiment::Experiment;
use super::problem::Located;
use super::shape::{Listed, Named, Part};

/// Omits defaults from the schema, because comments state them. For a type with its own deserializing
/// function, `schemars` also requires a serializing one.
pub(super) trait NoDefault {
    fn serialize<V, S: serde::Serializer>(_: &V, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_none()
    }
}

impl<T> NoDefault for T {}

/// Implements the schema of a type without its own definition.
macro_rules! inline {
    ($part:ident: $bound:path, $type:ty, |$generator:ident| $schema:expr) => {
        impl<$part: $bound + JsonSchema> JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                T::schema_name()
            }

            fn json_schema($generator: &mut SchemaGenerator) -> schemars::Schema {
                $schema
            }
        }
    };
}

inline!(T: Sized, Located<T>, |generator| T::json_schema(generator));
inline!(T: Part, Named<T>, |generator| json_schema!({
    "type": "object",
    "additionalProperties": generator.subschema_for::<T>(),
    "propertyNames": {"pattern": "^[A-Za-z_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?$"},
}));
inline!(T: Part, Listed<T>, |generator| json_schema!({
    "type": "array",
    "items": generator.subschema_for::<T>(),
}));

/// The keywords of [`fathom_model::Layer`].
pub(super) struct LayerWord<T = ()>(std::marker::PhantomData<T>);

inline!(T: Sized, LayerWord<T>, |_generator| json_schema!({
    "enum": [Layer::Arithmetic.name(), Layer::Mechanism.name(), Layer::Size.name()],
}));

/// Limits, keyed by metric, by benchmark, or by both joined with a dot.
pub(super) struct BudgetsByName<T = ()>(std::marker::PhantomData<T>);

inline!(T: Sized, BudgetsByName<T>, |_generator| json_schema!({
    "type": "object",
    "additionalProperties": {
        "oneOf": [{"type": "string"}, {"type": "object", "additionalProperties": {"type": "string"}}],
    },
}));

#[test]
fn the_committed_schema_is_what_the_types_give() {
    let schema = [Schema::of_input::<Experiment>(
        "experiment",
        "A Fathom experiment",
    )];
    assert_committed(&schema);
    assert_described(&schema);
}
