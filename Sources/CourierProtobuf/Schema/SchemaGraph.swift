/// Finds all message types that a type contains, and the number of message levels of each type.
///
/// The code uses no recursion, because a hostile descriptor set can hold a chain of many thousand types.
struct SchemaGraph {
    struct Node {
        let schema: ProtobufSchema
        /// The types of the message fields, by the index of the field.
        let children: [Int: ProtobufSchema]
        /// The number of message levels that the type can have; `nil` if the number is unlimited.
        fileprivate(set) var depth: Int?
    }

    private(set) var nodes: [Node] = []

    /// Collects the type itself and all types that it contains, directly or indirectly.
    init(from root: ProtobufSchema) {
        var places: [ObjectIdentifier: Int] = [ObjectIdentifier(root): 0]
        var waiting = [root]
        var parents: [[Int]] = [[]]
        while nodes.count < waiting.count {
            let schema = waiting[nodes.count]
            var children: [Int: ProtobufSchema] = [:]
            for (index, field) in schema.fields.enumerated() {
                guard case .message(let schemaOf) = field.kind else { continue }
                let child = schemaOf()
                children[index] = child
                if let place = places[ObjectIdentifier(child)] {
                    parents[place].append(nodes.count)
                } else {
                    places[ObjectIdentifier(child)] = waiting.count
                    waiting.append(child)
                    parents.append([nodes.count])
                }
            }
            nodes.append(Node(schema: schema, children: children, depth: nil))
        }
        measure(parents: parents)
    }

    /// Computes the depth of each type, from types without message fields upward. The depth stays `nil` for types in a
    /// cycle, and for types that contain a type in a cycle.
    private mutating func measure(parents: [[Int]]) {
        var open = nodes.map(\.children.count)
        var deepest = [Int](repeating: 0, count: nodes.count)
        var done = open.indices.filter { open[$0] == 0 }
        while let place = done.popLast() {
            nodes[place].depth = deepest[place] + 1
            for parent in parents[place] {
                deepest[parent] = max(deepest[parent], deepest[place] + 1)
                open[parent] -= 1
                if open[parent] == 0 { done.append(parent) }
            }
        }
    }
}
