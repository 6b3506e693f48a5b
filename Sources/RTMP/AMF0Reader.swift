/// Reads the AMF0 values of one message, tolerantly and within limits.
///
/// Spec: AMF0 Specification §2. Tolerated: an object or array that the end of the message cuts off at a property
/// boundary, and a wrong ECMA array count. Reading stops at a fault; the values before it are kept, because commands
/// often carry trailing arguments that are not needed.
package struct AMF0Reader {
    /// Maximum nesting depth of objects and arrays: real metadata has two levels, an attack has thousands.
    package static let maximumDepth = 16
    /// Maximum number of properties of one object.
    package static let maximumProperties = 512
    /// Maximum number of values of one message, at any depth.
    package static let maximumValues = 4096
    /// Maximum length of a property's name, in bytes.
    package static let maximumNameLength = 1024

    /// Why reading stopped before the end of the message.
    package enum Fault: Error, Sendable, Hashable {
        /// A value reaches past the end of the message.
        case truncated
        /// A type marker that AMF0 does not define or reserves (movie clip, record set).
        case marker(UInt8)
        /// The rest of the message is AMF3 (marker 0x11), which is not read.
        case amf3
        case tooDeep
        case tooManyValues
        case tooManyProperties
        case nameTooLong
    }

    private let bytes: [UInt8]
    private var offset: Int
    private var budget = AMF0Reader.maximumValues

    private let depth: Int

    private init(_ bytes: [UInt8], from offset: Int, depth: Int) {
        self.bytes = bytes
        self.offset = offset
        self.depth = depth
    }

    /// Reads every value from `offset` to the end, or to the first fault.
    ///
    /// - Parameter depth: Maximum nesting depth of objects and arrays, at most 64; it bounds the stack.
    package static func values(
        in bytes: [UInt8], from offset: Int = 0, depth: Int = AMF0Reader.maximumDepth
    ) -> (values: [AMF0Value], fault: Fault?) {
        var reader = AMF0Reader(bytes, from: max(0, offset), depth: min(depth, 64))
        var values: [AMF0Value] = []
        while reader.offset < bytes.count {
            do {
                values.append(try reader.value(depth: 0))
            } catch {
                return (values, error)
            }
        }
        return (values, nil)
    }

    private var left: Int { self.bytes.count - self.offset }

    private mutating func byte() throws(Fault) -> UInt8 {
        guard self.left >= 1 else { throw .truncated }
        defer { self.offset += 1 }
        return self.bytes[self.offset]
    }

    private mutating func unsigned(_ size: Int) throws(Fault) -> UInt64 {
        guard self.left >= size else { throw .truncated }
        var value: UInt64 = 0
        for index in self.offset..<(self.offset + size) { value = value << 8 | UInt64(self.bytes[index]) }
        self.offset += size
        return value
    }

    private mutating func text(_ length: UInt64) throws(Fault) -> String {
        guard length <= UInt64(self.left) else { throw .truncated }
        let end = self.offset + Int(length)
        defer { self.offset = end }
        return String(decoding: self.bytes[self.offset..<end], as: UTF8.self)
    }

    // Recursion is bounded by `depth`.
    private mutating func value(depth: Int) throws(Fault) -> AMF0Value {
        guard self.budget > 0 else { throw .tooManyValues }
        self.budget -= 1
        let marker = try self.byte()
        switch marker {
        case 0x00: return .number(Double(bitPattern: try self.unsigned(8)))
        case 0x01: return .boolean(try self.byte() != 0)
        case 0x02: return .string(try self.text(try self.unsigned(2)))
        case 0x03: return .object(try self.properties(depth: depth))
        case 0x05: return .null
        case 0x06: return .undefined
        case 0x07: return .reference(UInt16(truncatingIfNeeded: try self.unsigned(2)))
        case 0x08:
            _ = try self.unsigned(4)
            return .ecmaArray(try self.properties(depth: depth))
        case 0x0A: return .strictArray(try self.elements(depth: depth))
        case 0x0B:
            let milliseconds = Double(bitPattern: try self.unsigned(8))
            _ = try self.unsigned(2)
            return .date(milliseconds)
        case 0x0C: return .string(try self.text(try self.unsigned(4)))
        case 0x0D: return .unsupported
        case 0x0F: return .xml(try self.text(try self.unsigned(4)))
        case 0x10:
            let name = try self.text(try self.unsigned(2))
            return .typedObject(name: name, try self.properties(depth: depth))
        case 0x11: throw .amf3
        default: throw .marker(marker)
        }
    }

    private mutating func properties(depth: Int) throws(Fault) -> [AMF0Property] {
        guard depth < self.depth else { throw .tooDeep }
        var properties: [AMF0Property] = []
        // A missing end marker at the end of the message is tolerated (Envivio).
        while self.left >= 2 {
            let length = try self.unsigned(2)
            if length == 0 {
                if self.left == 0 { break }
                if self.bytes[self.offset] == 0x09 {
                    self.offset += 1
                    return properties
                }
            }
            guard length <= AMF0Reader.maximumNameLength else { throw .nameTooLong }
            guard properties.count < AMF0Reader.maximumProperties else { throw .tooManyProperties }
            let name = try self.text(length)
            properties.append(AMF0Property(name, try self.value(depth: depth + 1)))
        }
        self.offset = self.bytes.count
        return properties
    }

    private mutating func elements(depth: Int) throws(Fault) -> [AMF0Value] {
        guard depth < self.depth else { throw .tooDeep }
        let count = try self.unsigned(4)
        // Every element takes at least one byte, so a larger count is wrong.
        guard count <= UInt64(self.left) else { throw .truncated }
        guard count <= UInt64(self.budget) else { throw .tooManyValues }
        var elements: [AMF0Value] = []
        for _ in 0..<Int(count) { elements.append(try self.value(depth: depth + 1)) }
        return elements
    }
}
