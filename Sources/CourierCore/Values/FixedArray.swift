/// An array with a fixed number of elements. The elements are stored in the value itself, without a heap block.
///
/// `Storage` is a tuple of elements. Its size sets the number of elements, and tuples may contain tuples. In the
/// example, ``Eight`` is a tuple of eight values:
///
/// ```swift
/// var counts = FixedArray<UInt64, (Eight<UInt64>, UInt64)>(repeating: 0)  // nine elements
/// counts[8] += 1
/// ```
///
/// The type `InlineArray` of the standard library does the same, but on Apple's platforms it needs system versions of
/// 2025 or later.
package struct FixedArray<Element: BitwiseCopyable, Storage: BitwiseCopyable> {
    @usableFromInline var storage: Storage

    /// The number of elements.
    @inlinable @inline(__always)
    package static var count: Int { MemoryLayout<Storage>.size / MemoryLayout<Element>.stride }

    /// Creates an array of equal elements.
    @inlinable
    package init(repeating element: Element) {
        storage = withUnsafeTemporaryAllocation(of: Storage.self, capacity: 1) { storage in
            let memory = UnsafeMutableRawBufferPointer(storage)
            for index in 0..<Self.count {
                memory.storeBytes(of: element, toByteOffset: index &* MemoryLayout<Element>.stride, as: Element.self)
            }
            return storage[0]
        }
    }

    @inlinable @inline(__always)
    package var indices: Range<Int> { 0..<Self.count }

    /// The element at an index from 0 to ``count`` - 1. Any other index ends the process.
    ///
    /// If an array is large and is not a local variable, reading an element copies the array. Changing an element
    /// does not copy the array.
    @inlinable
    package subscript(index: Int) -> Element {
        @inline(__always) get {
            precondition(index >= 0 && index < Self.count, "an index outside the array")
            return withUnsafePointer(to: self) {
                UnsafeRawPointer($0).load(fromByteOffset: index &* MemoryLayout<Element>.stride, as: Element.self)
            }
        }
        // The pointer stays valid, because Swift ends the access to the array only after the access to the element.
        @inline(__always) unsafeMutableAddress {
            precondition(index >= 0 && index < Self.count, "an index outside the array")
            return withUnsafeMutablePointer(to: &self) {
                let element = UnsafeMutableRawPointer($0) + index &* MemoryLayout<Element>.stride
                return element.assumingMemoryBound(to: Element.self)
            }
        }
    }
}

extension FixedArray: Sendable where Storage: Sendable {}

/// Eight values in a row, for the storage of a ``FixedArray``.
package typealias Eight<Value> = (Value, Value, Value, Value, Value, Value, Value, Value)
