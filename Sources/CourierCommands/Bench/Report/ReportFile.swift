import CommandArguments

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
        if FileStatus.exists(path) { throw isThere }
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? "."
        do throws(SystemError) { try FileStatus.checkWritable(String(folder)) } catch { throw failure(error) }
    }

    /// Creates the file and writes the report.
    func write(_ text: String) throws(ArgumentError) {
        let descriptor: Int32
        do throws(SystemError) { descriptor = try FileDescriptor.create(path) } catch {
            throw error == .exists ? isThere : failure(error)
        }
        do throws(SystemError) {
            try FileDescriptor.writeAll(Array(text.utf8), to: descriptor)
        } catch {
            try? FileDescriptor.closeFile(descriptor)
            FileStatus.remove(path)
            throw failure(error)
        }
        // Some file systems report a full disk only when the file is closed.
        do throws(SystemError) { try FileDescriptor.closeFile(descriptor) } catch {
            FileStatus.remove(path)
            throw failure(error)
        }
    }

    private var isThere: ArgumentError {
        ArgumentError(
            "\(path) exists already.", hint: "Choose another name, or remove the file. bench does not overwrite files.")
    }

    private func failure(_ error: SystemError) -> ArgumentError {
        ArgumentError("\(path) cannot be written: \(error.text)")
    }
}
