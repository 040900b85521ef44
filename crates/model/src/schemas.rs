//! The schemas of `docs/json-schema`, generated from the types and their comments.
//!
//! `FATHOM_WRITE_SCHEMAS=1 cargo test -p fathom-model schemas` writes the files; without the variable, the
//! test fails if a committed file differs from the generated one. The schema of the experiment file, which is
//! input, is in `fathom-experiment`.

use fathom_test_schemas::{Schema, assert_committed, assert_described};

use crate::{
    BenchRecord, BisectRecord, CatalogueRecord, ChangesRecord, CheckRecord, CompareRecord,
    DifferenceRecord, ExperimentRecord, Explanation, GateRecord, HistoryRecord, ImportedRecord,
    JobsRecord, MachineRecord, PipeRecord, PlanRecord, ServeRecord, StartupRecord, StoreRecord,
    VersionsRecord,
};

fn all() -> Vec<Schema> {
    vec![
        Schema::of_output::<BenchRecord>("bench", "Record of fathom bench"),
        Schema::of_output::<BisectRecord>("bisect", "Record of fathom bisect"),
        Schema::of_output::<CatalogueRecord>("catalogue", "List of fathom run --list"),
        Schema::of_output::<ChangesRecord>("changes", "Record of fathom changes"),
        Schema::of_output::<CompareRecord>("compare", "Record of fathom compare"),
        Schema::of_output::<DifferenceRecord>(
            "difference",
            "Answer of fathom why for two commands",
        ),
        Schema::of_output::<GateRecord>("gate", "Record of fathom gate"),
        Schema::of_output::<HistoryRecord>("history", "Record of fathom history"),
        Schema::of_output::<ImportedRecord>("imported", "Record of fathom import"),
        Schema::of_output::<JobsRecord>("jobs", "List of fathom jobs"),
        Schema::of_output::<CheckRecord>("machine-check", "Record of fathom machine --check"),
        Schema::of_output::<MachineRecord>("machine", "Record of fathom machine"),
        Schema::of_output::<PipeRecord>("pipe", "Record of fathom pipe"),
        Schema::of_output::<PlanRecord>("plan", "Plan of fathom run --plan"),
        Schema::of_output::<ExperimentRecord>("run", "Record of fathom run"),
        Schema::of_output::<ServeRecord>("serve", "Record of fathom serve"),
        Schema::of_output::<StartupRecord>("startup", "Record of fathom startup"),
        Schema::of_output::<StoreRecord>("store", "Record of fathom store"),
        Schema::of_output::<VersionsRecord>("versions", "Record of fathom versions"),
        Schema::of_output::<Explanation>("why", "Answer of fathom why"),
    ]
}

#[test]
fn the_committed_schemas_are_what_the_types_give() {
    assert_committed(&all());
}

#[test]
fn every_key_is_described() {
    assert_described(&all());
}
