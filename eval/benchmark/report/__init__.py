"""The benchmark's report: tables, figures and page, beside the paper's."""
