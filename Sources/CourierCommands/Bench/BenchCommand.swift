package import CommandArguments

/// The command `courier bench`: puts load on a broker, and measures throughput and latency.
package struct BenchCommand: CourierCommand {
    package init() {}

    package var summary: CommandSummary {
        CommandSummary(
            name: "bench", abstract: "put load on a broker, and measure its throughput and latency",
            usage: [
                "[-h HOST] [-p PORT] [-q QOS] [-n COUNT] [-s BYTES] [--rate MESSAGES] [OPTIONS]",
                "[--publishers COUNT] [--subscribers COUNT] [-t TOPIC] [--filter FILTER] [OPTIONS]",
            ],
            discussion: [
                "By default, one client publishes, and another client receives the messages and measures their latency. "
                    + "On a terminal, bench shows its progress every second. "
                    + "At the end, bench prints percentiles and a histogram.",
                "Without --rate, bench sends the next message as soon as an earlier message has arrived. "
                    + "The measured latency then includes waiting time, because the queue is always full. "
                    + "To measure the latency without waiting time, set a --rate that the broker can handle.",
                "Without subscribers, bench measures the time until the broker acknowledges a message. "
                    + "With QoS 0 and without subscribers, bench measures only the rate. "
                    + "Without publishers, bench measures the time to connect.",
                "With one or two clients, the first problem of a connection ends the run. "
                    + "With three or more clients, problems are counted, and the first problem determines the exit code.",
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
                    "courier bench -n 1000000 --report bench.svg --report bench.json",
                    "Also draws the message rate over time into bench.svg, and writes all figures into bench.json."),
                .init(
                    "courier bench --publishers 500 --subscribers 500 -t load/%i --duration 60",
                    "Sends for a minute. Each of 500 subscribers receives the messages of one publisher."),
                .init(
                    "courier bench --publishers 0 --subscribers 10000 --ramp-up 30 --duration 300",
                    "Opens 10,000 connections within 30 s, keeps them for 5 minutes, and counts lost connections."),
            ], exitCodes: ExitCode.meanings)
    }

    package func run(_ arguments: [String], _ console: Console) throws -> Int32 {
        var settings = BenchArguments()
        try ArgumentReader(BenchArguments.groups).read(arguments, into: &settings)
        try settings.check()
        try DescriptorLimit.raise(for: settings.clients)
        return try BenchRun(settings, console).run()
    }
}
