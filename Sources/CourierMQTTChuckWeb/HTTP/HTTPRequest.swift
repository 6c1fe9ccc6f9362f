/// The head of an HTTP request: its method, path, headers and URL arguments.
struct HTTPRequest: Sendable {
    let method: String
    /// The path with its escapes decoded, or `nil` if it is not UTF-8.
    let path: String?
    /// The headers, with names in lower case.
    var headers: [(name: String, value: String)]
    var arguments: [(name: String, value: String)]
    /// The names of arguments whose values are not UTF-8.
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

    /// Returns all values of a header, which may occur several times.
    func headers(_ name: String) -> [String] { headers.filter { $0.name == name }.map(\.value) }

    /// Returns the first value of a URL argument, or `nil` if the argument is missing.
    func argument(_ name: String) -> String? { arguments.first { $0.name == name }?.value }
}
