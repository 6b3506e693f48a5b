import MediaKernels

extension PacketMemory {
    /// Big-endian 24 bits at `offset`; nil if the bytes end before.
    func unsigned24(at offset: Int) -> UInt32? {
        guard let a = self.byte(at: offset), let b = self.byte(at: offset + 1), let c = self.byte(at: offset + 2) else {
            return nil
        }
        return UInt32(a) << 16 | UInt32(b) << 8 | UInt32(c)
    }
}
