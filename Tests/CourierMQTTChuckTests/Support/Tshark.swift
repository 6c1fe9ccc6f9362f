import Foundation
import TestSupport

/// Runs tshark, which must be installed. It shows the captures as Wireshark does.
enum Tshark {
    /// The fields of all frames that a filter matches, a list of lines of tab-separated values.
    static func fields(_ names: [String], of capture: Data, filter: String = "mqtt") throws -> [[String]] {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let file = folder.file("session.pcapng")
        try capture.write(to: URL(fileURLWithPath: file))
        // Checksums are not checked by default, because network cards compute them. This test checks them.
        let checks = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]
        let format = ["-T", "fields", "-E", "separator=/t", "-E", "occurrence=a"] + names.flatMap { ["-e", $0] }
        // Standard error is ignored, because it contains only the warning that tshark runs as root.
        let quietly = ["sh", "-c", "exec tshark \"$@\" 2>/dev/null", "tshark"]
        let output = try ChildProcess.run(quietly + ["-r", file] + checks + ["-Y", filter] + format)
        return String(decoding: output, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            .dropLast().map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
    }
}
