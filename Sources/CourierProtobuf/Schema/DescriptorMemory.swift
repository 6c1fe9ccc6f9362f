/// Owns the memory of one libprotobuf-c descriptor, and frees the memory when this object is released.
final class DescriptorMemory {
    private var blocks: [UnsafeMutableRawPointer] = []

    deinit { for block in blocks { block.deallocate() } }

    /// Allocates zeroed memory for values that need no deinitialization.
    func allocate<Value: BitwiseCopyable>(_ type: Value.Type, count: Int) -> UnsafeMutablePointer<Value> {
        let size = MemoryLayout<Value>.stride * count
        let block = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        block.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        blocks.append(block)
        return block.bindMemory(to: Value.self, capacity: count)
    }

    /// Copies a string into a C string that ends with a zero byte.
    func text(_ text: String) -> UnsafePointer<CChar> {
        let bytes = allocate(CChar.self, count: text.utf8.count + 1)
        for (index, byte) in text.utf8.enumerated() { bytes[index] = CChar(bitPattern: byte) }
        return UnsafePointer(bytes)
    }
}
