/* One row for each format of `orrery export`: X(name, doc) stands for `format_name`, in
 * format_name.c; doc is its part of --help. */
X(chrome, "trace events for ui.perfetto.dev")
X(csv, "one table or view")
X(svg, "as --svg gantt")
X(failures,
  "the failures of weeks, as `law: trace` reads them; what must stand beside the trace is "
  "said on stderr")
X(kineto, "a trace a rank, as PyTorch's profiler writes them: trace.json becomes trace-rank0.json "
          "and so on")
X(chakra,
  "a Chakra execution trace a rank, as ASTRA-sim takes them: PREFIX becomes PREFIX.0.et and "
  "so on, beside PREFIX.groups.json")
