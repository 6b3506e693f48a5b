extension SourceItem {
    /// What keeping an item takes beside its payload, in bytes: its place in a queue that grows by doubling, its object, and the
    /// smallest block of memory. A payload of 14 bytes costs this too.
    public static let overhead = 512

    /// Bytes that keeping the item takes: the whole block its payload lies in, whatever part of that is the packet's.
    public var cost: Int {
        switch self {
        case .configuration(let parameters): parameters.configuration.count + Self.overhead
        case .packet(let packet): packet.memory.blockSize + Self.overhead
        case .end: Self.overhead
        }
    }
}
