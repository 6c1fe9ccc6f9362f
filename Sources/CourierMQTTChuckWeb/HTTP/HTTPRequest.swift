/// The head of a request.
struct HTTPRequest: Sendable {
    let method: String
    /// With escapes resolved; `nil` when it is no UTF-8.
    let path: String?
    /// Names in lower case.
    var headers: [(name: String, value: String)]
    var arguments: [(name: String, value: String)]
    /// The names of arguments whose values are no UTF-8.
    let unreadableArguments: [String]

    init(
        method: String, path: String?, headers: [(name: String, value: String)] = [],
        arguments: [(name: String, value: String)] = [], unreadableArguments: [String] = []
    ) {
        self.method = method
        self.path = path
        self.headers = headers
        self.arguments = arguments
        self.unreadableArguments = unreadableArguments
    }

    /// What a header says, however often it was sent.
    func headers(_ name: String) -> [String] { headers.filter { $0.name == name }.map(\.value) }

    /// An argument of the URL; the first, if there are several.
    func argument(_ name: String) -> String? { arguments.first { $0.name == name }?.value }
}
