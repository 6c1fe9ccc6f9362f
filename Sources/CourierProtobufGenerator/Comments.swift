import CourierProtobuf

/// The comments of a `.proto` file, by the path of the declaration that they belong to.
struct Comments {
    /// Field numbers of `descriptor.proto`. The path of a declaration consists of these numbers and of indexes.
    enum Step {
        static let fileMessage: Int32 = 4
        static let fileEnum: Int32 = 5
        static let field: Int32 = 2
        static let nestedMessage: Int32 = 3
        static let nestedEnum: Int32 = 4
        static let oneof: Int32 = 8
        static let enumValue: Int32 = 2
    }

    private var comments: [[Int32]: String] = [:]

    init(_ file: FileDescriptor) {
        for location in file.sourceCodeInfo?.locations ?? [] {
            let text = [location.leadingComments, location.trailingComments].filter { !$0.isEmpty }
                .map(Self.tidied).filter { !$0.isEmpty }.joined(separator: "\n\n")
            if !text.isEmpty { comments[location.path] = text }
        }
    }

    /// Returns the comment of the declaration with this path, or `other` if it has no comment.
    func text(_ path: [Int32], else other: String) -> String { comments[path] ?? other }

    /// Returns the comment without the space after `//`, without trailing white space, and without blank lines at the
    /// start and the end.
    private static func tidied(_ comment: String) -> String {
        var lines = comment.sourceLines.map { line in
            var line = line.trimmedEnd
            if line.first == " " { line = line.dropFirst() }
            return String(line)
        }
        while lines.first?.isEmpty == true { lines.removeFirst() }
        while lines.last?.isEmpty == true { lines.removeLast() }
        return lines.joined(separator: "\n")
    }
}

extension Substring {
    fileprivate var trimmedEnd: Substring {
        var rest = self
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return rest
    }
}
