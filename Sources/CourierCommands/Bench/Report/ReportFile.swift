import CommandArguments
import Glibc

/// A new file for a report. An existing file is never overwritten.
struct ReportFile: Hashable, Sendable {
    /// The format of a report. The extension of the file name selects it.
    enum Format: String, Hashable, Sendable, CaseIterable {
        /// A picture.
        case svg
        /// All figures as one JSON object.
        case json
    }

    /// The maximum number of reports of one run.
    static let limit = 10

    let path: String
    let format: Format

    /// Checks the extension of the file name. The file system is not used.
    init(_ path: String) throws(ArgumentError) {
        let name = path.split(separator: "/").last?.lowercased() ?? ""
        if name.hasSuffix(".png") {
            throw ArgumentError(
                "The report cannot be a PNG file.",
                hint: "Use a file name that ends in .svg. The program rsvg-convert can convert the file to PNG.")
        }
        guard let format = Format.allCases.first(where: { name.hasSuffix(".\($0.rawValue)") }) else {
            throw ArgumentError(
                "The report is an SVG file or a JSON file, but the name '\(path)' does not end in .svg or .json.",
                hint: "Use a file name that ends in .svg or .json.")
        }
        self.path = path
        self.format = format
    }

    /// Checks before the run whether the file can be created.
    func check() throws(ArgumentError) {
        if access(path, F_OK) == 0 { throw isThere }
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? "."
        guard access(String(folder), W_OK) == 0 else { throw failure(errno) }
    }

    /// Creates the file and writes the report.
    func write(_ text: String) throws(ArgumentError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw errno == EEXIST ? isThere : failure(errno) }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                let failure = failure(errno)
                close(descriptor)
                unlink(path)
                throw failure
            }
            rest = rest.dropFirst(count)
        }
        // Some file systems report only at this point that the disk is full.
        guard close(descriptor) == 0 else {
            let failure = failure(errno)
            unlink(path)
            throw failure
        }
    }

    private var isThere: ArgumentError {
        ArgumentError(
            "\(path) exists already.", hint: "Choose another name, or remove the file. bench does not overwrite files.")
    }

    private func failure(_ number: Int32) -> ArgumentError {
        ArgumentError("\(path) cannot be written: \(String(cString: strerror(number)))")
    }
}
