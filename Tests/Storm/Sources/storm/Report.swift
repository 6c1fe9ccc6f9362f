/// Writes the tables of docs/guides/reconnect.md.
struct Report {
    let scene: Scene
    let seed: UInt64
    let refused: [Outcome]
    let silent: [Outcome]

    var text: String {
        var lines = [
            """
            \(Self.grouped(scene.clientCount)) clients, no broker for \(scene.downTime / 1_000) s, then \
            \(Self.grouped(scene.acceptedPerMillisecond * 1_000)) connections accepted per second and a backlog of \
            \(Self.grouped(scene.backlog)): at best everybody is back after \
            \(scene.clientCount / scene.acceptedPerMillisecond / 1_000) s. Seed \(seed).
            """,
            "",
            "**What is too much is refused at once.**",
            "",
        ]
        lines += table(refused)
        lines += [
            "", "**What is too much gets no answer, and the client gives up after \(scene.connectTimeout / 1_000) s.**",
            "",
        ]
        lines += table(silent)
        return lines.joined(separator: "\n")
    }

    private func table(_ outcomes: [Outcome]) -> [String] {
        var lines = [
            "| policy | 50 % back | 95 % back | 100 % back | peak / 0.1 s | p99 / 0.1 s | wasted, down | wasted, after | overload |",
            "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
        ]
        for (contestant, outcome) in zip(Contestant.all, outcomes) {
            let cells = [
                contestant.name, seconds(outcome.timeUntilHalf), seconds(outcome.timeUntil95),
                seconds(outcome.timeUntilAll), Self.grouped(outcome.peak), Self.grouped(outcome.percentile99),
                perClient(outcome.wastedWhileDown), perClient(outcome.wastedAfterwards), "\(outcome.overloadSeconds) s",
            ]
            lines.append("| \(cells.joined(separator: " | ")) |")
        }
        return lines
    }

    private func perClient(_ count: Int) -> String {
        let tenths = (count * 10 + scene.clientCount / 2) / scene.clientCount
        return "\(tenths / 10).\(tenths % 10)"
    }

    private func seconds(_ time: Int?) -> String {
        time.map { "\(($0 + 500) / 1_000) s" } ?? "> \(Self.grouped((scene.end - scene.downTime) / 1_000)) s"
    }

    private static func grouped(_ number: Int) -> String {
        number < 1_000 ? "\(number)" : "\(grouped(number / 1_000)),\(padded(number % 1_000))"
    }

    private static func padded(_ number: Int) -> String { String(String(number + 1_000).dropFirst()) }
}
