"""Case studies: contracts over the test suites of projects that nobody here wrote.

`python -m studies run` gets each project of `projects.toml` as it was published, runs its tests with and without
contracts, and stores what came out in `results.json`; `judgements.toml` says of every violation whether it is one;
`docs/case-studies.md` is written from these. The modules follow this way: `projects`, `environment`, `measure`,
`results`, `judge`, `page`.
"""
