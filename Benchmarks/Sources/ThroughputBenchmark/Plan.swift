import BenchmarkHarness

/// The command-line options.
struct Plan {
    enum Part { case client, inspector }

    private(set) var part = Part.client
    private(set) var rounds = 5
    private(set) var columns = PublicColumn.allCases

    init(_ words: [String]) throws {
        var rest = words[...]
        while let word = rest.popFirst() {
            switch word {
            case "--client": part = .client
            case "--inspector": part = .inspector
            case "--rounds":
                guard let count = rest.popFirst().flatMap({ Int($0) }), count > 0 else { throw Self.usage }
                rounds = count
            case "--columns":
                let names = rest.popFirst()?.split(separator: ",").map { PublicColumn(rawValue: String($0)) } ?? []
                guard !names.isEmpty, !names.contains(nil) else { throw Self.usage }
                columns = PublicColumn.allCases.filter { names.contains($0) }
            default: throw Self.usage
            }
        }
    }

    private static let usage = Failure(
        "usage: ThroughputBenchmark [--client | --inspector] [--rounds <count>] [--columns plain,handler,properties]")
}
