import Foundation

/// Runs all conversations with some brokers over all their wires.
struct InteropRun {
    let brokers: [any Broker]
    /// The longest time for one conversation, including a restart of the broker. After that time it has failed.
    var patience = Duration.seconds(120)

    /// Runs the conversations, one broker after the other.
    func matrix() async -> Matrix {
        var matrix = Matrix(rows: Conversation.all.map(\.name))
        for broker in brokers {
            do {
                if let package = broker.missingPackage { throw Failure("not installed: Debian package \(package)") }
                let ways = try await broker.start()
                matrix.add(broker.name, ways.map(\.name), await verdicts(with: broker, by: ways))
            } catch {
                matrix.add(missing: broker.name, because: "\(error)")
            }
            await broker.remove()
        }
        return matrix
    }

    /// Returns the verdicts on all conversations for each wire. Calm conversations run over all wires at the same time;
    /// disruptive ones run alone.
    private func verdicts(with broker: any Broker, by ways: [Way]) async -> [[Verdict]] {
        let calm = await withTaskGroup(of: (Int, [Verdict]).self) { group in
            for (index, way) in ways.enumerated() {
                group.addTask { (index, await verdicts(on: Conversation.calm, with: broker, by: way)) }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        var columns: [[Verdict]] = []
        for (index, way) in ways.enumerated() {
            let disruptive = await verdicts(on: Conversation.disruptive, with: broker, by: way)
            columns.append((calm[index] ?? []) + disruptive)
        }
        return columns
    }

    private func verdicts(
        on conversations: [Conversation], with broker: any Broker, by way: Way
    ) async -> [Verdict] {
        var verdicts: [Verdict] = []
        for conversation in conversations {
            verdicts.append(await conversation.verdict(with: broker, by: way, patience: patience))
        }
        return verdicts
    }
}
