//! The page: one file that needs no network and runs no script at all.

use fathom_model::PipeRecord;

use super::svg;
use super::tables::{self, Table};
use super::terminal;
use super::view::{drawn, holding_up};
use crate::page::page;
use crate::text::html as text;
use crate::why::time;

/// The record as one page: the chart, with the chart of a late start beside it, the tables, and
/// what would mislead.
///
/// Texts from outside are escaped for terminals and for HTML.
pub fn pipe_html(record: &PipeRecord) -> String {
    let commands: Vec<&str> = record
        .stages
        .iter()
        .map(|stage| stage.command.as_str())
        .collect();
    let title = text(&commands.join(" | "));
    let mut out = format!("<h1>{title}</h1>\n");
    summary(&mut out, record);
    charts(&mut out, record);
    for table in tables::all(record) {
        push_table(&mut out, record, &table);
    }
    notes(&mut out, record);
    page("pipe", "fathom pipe", &out)
}

fn summary(out: &mut String, record: &PipeRecord) {
    for (label, value) in terminal::facts(record) {
        out.push_str(&format!(
            "<p><span class=\"soft\">{}</span> {}</p>\n",
            text(label),
            text(&value)
        ));
    }
}

fn charts(out: &mut String, record: &PipeRecord) {
    if let Some(round) = drawn(&record.explained, &record.rounds) {
        let title = terminal::chart_title(record);
        section(out, &title, &svg::chart(record, round));
    }
    if let Some(delayed) = &record.delayed
        && let Some(round) = drawn(&delayed.explained, &delayed.rounds)
    {
        let title = terminal::late(record, &delayed.delay_ns);
        section(out, &title, &svg::chart(record, round));
    }
}

fn section(out: &mut String, title: &str, chart: &str) {
    out.push_str(&format!(
        "<section><h2>{}</h2><div class=\"chart\">{chart}</div></section>\n",
        text(title)
    ));
}

fn push_table(out: &mut String, record: &PipeRecord, table: &Table) {
    out.push_str(&format!(
        "<section><h2>{}</h2><div class=\"scroll\"><table><thead><tr><th>stage</th>",
        text(table.title)
    ));
    for header in &table.headers {
        out.push_str(&format!("<th>{}</th>", text(header)));
    }
    out.push_str("</tr></thead><tbody>\n");
    for (stage, cells) in table.rows.iter().enumerate() {
        let class = match holding_up(record).contains(&stage) {
            true => " class=\"neck\"",
            false => "",
        };
        let command = record.stages.get(stage).map_or("", |stage| &stage.command);
        out.push_str(&format!(
            "<tr{class}><td>{} {}</td>",
            stage + 1,
            text(command)
        ));
        for cell in cells {
            out.push_str(&format!("<td>{}</td>", text(cell)));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>");
    if let Some(note) = table.note {
        out.push_str(&format!("<p class=\"small soft\">{}</p>", text(note)));
    }
    out.push_str("</section>\n");
}

fn notes(out: &mut String, record: &PipeRecord) {
    if record.notes.is_empty() {
        return;
    }
    out.push_str("<section><h2>What to know</h2><ul>\n");
    for note in &record.notes {
        let class = match note.id.as_str() {
            "failures" | "partial" => " class=\"bad\"",
            "misleading_wall_time" | "differs_alone" | "skips_file_input" | "model_inaccurate" => {
                " class=\"warn\""
            }
            _ => "",
        };
        out.push_str(&format!("<li{class}>{}</li>\n", text(&note.message)));
    }
    out.push_str("</ul></section>\n");
    let at = &record.started_at;
    let wall = time(record.summary.wall.value);
    out.push_str(&format!(
        "<p class=\"small soft\">Measured {} by fathom {}; median {wall}.</p>\n",
        text(at),
        text(&record.fathom_version)
    ));
}
