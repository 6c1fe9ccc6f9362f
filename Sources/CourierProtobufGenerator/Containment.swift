import CourierProtobuf

/// Which message types contain each other directly, so that one of their fields has to be stored outside.
struct Containment {
    private var component: [String: Int] = [:]

    /// Finds the circles among all types (Tarjan's algorithm over singular fields; lists and maps are outside already).
    init(_ types: TypeTable) {
        var index = 0
        var indices: [String: Int] = [:]
        var lowest: [String: Int] = [:]
        var stack: [String] = []
        var result: [String: Int] = [:]
        func visit(_ name: String) {
            indices[name] = index
            lowest[name] = index
            index += 1
            stack.append(name)
            for field in types.messages[name]?.descriptor.fields ?? []
            where field.kind == .message && field.label != .repeated && types.messages[field.typeName] != nil {
                if indices[field.typeName] == nil {
                    visit(field.typeName)
                    lowest[name] = min(lowest[name] ?? 0, lowest[field.typeName] ?? 0)
                } else if result[field.typeName] == nil {
                    lowest[name] = min(lowest[name] ?? 0, indices[field.typeName] ?? 0)
                }
            }
            guard lowest[name] == indices[name] else { return }
            while let member = stack.popLast() {
                result[member] = indices[name]
                if member == name { break }
            }
        }
        for name in types.messages.keys.sorted() where indices[name] == nil { visit(name) }
        component = result
    }

    /// Whether a field of this type in that message closes a circle.
    func isCircular(_ message: String, _ field: String) -> Bool {
        component[message] != nil && component[message] == component[field]
    }
}
