import CourierProtobuf

/// The comments of a file, by where they stand.
struct Comments {
    /// The numbers of the lists in `descriptor.proto` that lead to a thing.
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

    /// The comment, or another text where there is none; a note behind it says that the thing is deprecated.
    func text(_ path: [Int32], else other: String) -> String { comments[path] ?? other }

    /// Without the space that follows `//`, the stars of a block, and blank lines around.
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
