import MediaKernels
package import MediaTypes

/// Frame metadata for packets that are sent without being cut into parts: RTMP to CDNs, and HTTP-FLV to viewers.
extension PendingFrameMetadata {
    /// Call this for a packet that is not sent: drops the metadata that neither its frame nor a later one needs, so
    /// that the backlog does not grow.
    ///
    /// - Parameters: The same as for ``carrying(_:fps:step:)``.
    package mutating func passing(_ packet: CodedPacket, fps: Int, step: Int64) {
        guard self.hasUnits, packet.kind == .video, packet.timescale > 0 else { return }
        let frame = TimeMath.rescale(packet.pts, from: Int64(packet.timescale), to: Int64(max(1, fps)))
        self.forget(before: frame, step: max(1, step))
    }

    /// Returns the packet with the frame's SEI units inserted; call this in decoding order.
    ///
    /// - Parameters:
    ///   - packet: H.264 with four-byte NAL lengths; `pts` 0 is frame 0 of the program.
    ///   - fps: Frame rate of the program.
    ///   - step: Ratio of the program's frame rate to the track's: 2 for a track at half the frame rate.
    package mutating func carrying(_ packet: CodedPacket, fps: Int, step: Int64) -> CodedPacket {
        guard self.hasUnits, packet.kind == .video, packet.timescale > 0 else { return packet }
        let frame = TimeMath.rescale(packet.pts, from: Int64(packet.timescale), to: Int64(max(1, fps)))
        let units = self.takeUnits(at: frame, isKey: packet.isKey, step: max(1, step))
        guard !units.isEmpty,
            let memory = NALInsertion.inserting(units, into: packet.memory, packet.range)
        else { return packet }
        var packet = packet
        packet.memory = memory
        packet.range = 0..<memory.count
        return packet
    }
}
