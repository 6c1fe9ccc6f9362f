package import CommandArguments

/// The command `courier bench`: puts load on a broker, and measures throughput and latency.
package struct BenchCommand: CourierCommand {
    package init() {}

    package var summary: CommandSummary {
        CommandSummary(
            name: "bench", abstract: "put load on a broker, and see how much arrives and how soon",
            usage: ["[-h HOST] [-p PORT] [-q QOS] [-n COUNT] [-s BYTES] [--rate MESSAGES] [OPTIONS]"],
            discussion: [
                "One client publishes, and another client receives the messages and measures their times. On a terminal, bench shows "
                    + "every second how far it is; at its end it prints percentiles and a histogram.",
                "Without --rate it sends as fast as messages arrive, with --window of them under way; times are then those "
                    + "of a full pipe. Give a --rate that the broker can take to see the times of a quiet one.",
            ],
            groups: BenchArguments.groups.map(\.summary),
            examples: [
                .init(
                    "courier bench -q 1 -n 100000",
                    "Measures how many QoS 1 messages per second the local broker accepts."),
                .init(
                    "courier bench -h broker.example --rate 100 -n 1000",
                    "Measures how long messages take from publisher to subscriber."),
                .init("courier bench -n 1000000 --report bench.svg", "Draws the rate over time, too."),
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
