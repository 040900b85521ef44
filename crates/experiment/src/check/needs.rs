//! Checks that everything that is needed exists, and that nothing needs itself.

use super::Checker;

impl Checker<'_> {
    /// Checks that needs are tools, builds or inputs, and don't form a cycle.
    pub(super) fn needs(&self) {
        let experiment = self.experiment;
        let known = [self.tools(), self.builds(), self.inputs()].concat();
        let lists = (experiment.builds.iter().map(|b| &b.needs))
            .chain(experiment.inputs.iter().map(|i| &i.needs))
            .chain(experiment.subjects.iter().map(|s| &s.needs))
            .chain(experiment.claims.iter().map(|c| &c.needs))
            .chain(experiment.measures.iter().map(|m| &m.needs))
            .chain(
                experiment
                    .measures
                    .iter()
                    .flat_map(|m| m.counts.iter().map(|c| &c.needs)),
            );
        for need in lists.flatten() {
            if !known.contains(&need.value.as_str()) {
                self.problems.unknown(need, "tool or build", &known);
            }
        }
        for build in &experiment.builds {
            let mut path = vec![build.name.value.clone()];
            if self.leads_back(&build.name.value, &mut path) {
                self.problems.add(
                    build.name.span.clone(),
                    format!("the build depends on itself: {}", path.join(" needs ")),
                    "remove one of them from `needs`",
                );
            }
        }
    }

    fn leads_back(&self, start: &str, path: &mut Vec<String>) -> bool {
        let last = path.last().cloned().unwrap_or_default();
        let next: Vec<String> = (self.experiment.builds.iter())
            .filter(|build| build.name.value == last)
            .flat_map(|build| build.needs.iter().map(|need| need.value.clone()))
            // If a build needs its own name, that means the tool of that name.
            .filter(|need| *need != last || !self.tools().contains(&need.as_str()))
            .chain(
                (self.experiment.inputs.iter())
                    .filter(|input| input.name.value == last)
                    .flat_map(|input| input.needs.iter().map(|need| need.value.clone())),
            )
            .collect();
        for need in next {
            if need == start {
                path.push(need);
                return true;
            }
            if path.contains(&need) {
                continue;
            }
            path.push(need);
            if self.leads_back(start, path) {
                return true;
            }
            path.pop();
        }
        false
    }
}
