import MQTTCodec

/// The program of `Scripts/portable`: decodes recorded and malformed packets, and plays a conversation of the engine.
///
/// It prints one line for each result. The script compares the lines of all builds.
@main
enum PortableProgram {
    static func main() {
        var report = Report()
        RecordedTraffic.decode(into: &report)
        MalformedPackets.decode(into: &report)
        LargeNumbers.check(into: &report)
        EngineConversation.play(into: &report)
        report.finish()
    }
}

/// Prints the results of the program, and counts them.
struct Report {
    /// The number of recorded packets that were decoded.
    var decodedCount = 0
    /// The number of malformed packets that were refused with the expected error.
    var refusedCount = 0
    /// The number of steps of the conversation.
    var stepCount = 0
    private var failureCount = 0

    /// Prints one result.
    func line(_ text: String) { print(text) }

    /// Prints a failed check.
    mutating func fail(_ text: String) {
        failureCount += 1
        print("failed: \(text)")
    }

    /// Prints a failed check unless `isTrue` holds.
    mutating func check(_ isTrue: Bool, _ text: String) { if !isTrue { fail(text) } }

    /// Prints the counts. The script reads this line.
    func finish() {
        print("counts: \(decodedCount) \(refusedCount) \(stepCount) \(failureCount)")
    }
}

extension PacketBuffer {
    /// Removes and returns all bytes.
    mutating func take() -> [UInt8] {
        let bytes = withBytes { $0.withUnsafeBytes { Array($0) } }
        removeAll()
        return bytes
    }
}
