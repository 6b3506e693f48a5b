/// What a job that does not get on waits for.
extension HLSPackager {
    /// The output's directory.
    package var directory: String { self.settings.directory }
    /// A track's thread waits until the store has taken what is before its packets.
    package var isWaitingForStore: Bool { self.intake.withLock { $0.waiting > 0 } }
    /// When the last packet came, on the packager's clock in nanoseconds; 0 before the first.
    package var lastPacketAt: Int64 { self.lastPacket.load(ordering: .acquiring) }
}
