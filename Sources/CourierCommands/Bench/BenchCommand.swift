package import CommandArguments

/// The command `courier bench`: puts load on a broker, and measures throughput and latency.
package struct BenchCommand: CourierCommand {
    package init() {}

    package var summary: CommandSummary {
        CommandSummary(
            name: "bench", abstract: "put load on a broker, and measure its throughput and latency",
            usage: ["[-h HOST] [-p PORT] [-q QOS] [-n COUNT] [-s BYTES] [--rate MESSAGES] [OPTIONS]"],
            discussion: [
                "One client publishes, and another client receives the messages and measures their latency. "
                    + "On a terminal, bench shows its progress every second. "
                    + "At the end, bench prints percentiles and a histogram.",
                "Without --rate, bench sends as fast as messages arrive. "
                    + "The measured latency then includes waiting time, because the queue is always full. "
                    + "To measure the latency without waiting time, set a --rate that the broker can handle.",
            ],
            groups: BenchArguments.groups.map(\.summary),
            examples: [
                .init(
                    "courier bench -q 1 -n 100000",
                    "Measures how many QoS 1 messages per second the local broker accepts."),
                .init(
                    "courier bench -h broker.example --rate 100 -n 1000",
                    "Measures how long messages take from publisher to subscriber."),
                .init(
                    "courier bench -n 1000000 --report bench.svg",
                    "Also draws the message rate over time into bench.svg."),
            ], exitCodes: ExitCode.meanings)
    }

    package func run(_ arguments: [String], _ console: Console) throws -> Int32 {
        var settings = BenchArguments()
        try ArgumentReader(BenchArguments.groups).read(arguments, into: &settings)
        try settings.connection.check()
        try settings.report?.check()
        return try BenchRun(settings, console).run()
    }
}
