"""Case studies of decentralized monitoring: the experiments of the THEMIS thesis, done again.

`synthetic` is the benchmark of random formulas and traces, `chiron` a user interface, `apartment` a smart home.
`thesis.toml` has what the thesis reports, `results.json` what was measured here, and `page` writes
`docs/decentral-studies.md` from both.
"""
