import CourierProtobuf

/// Finds message types that contain themselves, directly or through other types. Swift cannot store such fields inline,
/// so the generated type stores them in a box on the heap.
struct Containment {
    private var component: [String: Int] = [:]

    /// Finds all cycles with Tarjan's algorithm. It follows singular fields only, because lists and maps already store
    /// their elements on the heap.
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

    /// True if a field of type `field` in the message type `message` is part of a cycle.
    func isCircular(_ message: String, _ field: String) -> Bool {
        component[message] != nil && component[message] == component[field]
    }
}
