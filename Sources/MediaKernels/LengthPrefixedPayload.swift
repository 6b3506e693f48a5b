/// An access unit as NAL units with four-byte big-endian lengths, together with the types of its units.
public struct LengthPrefixedPayload: Sendable {
    /// The access unit: `[length u32][NAL unit]`, repeated.
    public let memory: PacketMemory
    /// Every NAL unit type that occurs in ``memory``.
    public let types: NALTypes
}
