import MediaKernels
package import MediaTypes

/// The same for packets that go out as they are, without parts: to CDNs, and to viewers over HTTP.
extension TrackCues {
    /// The picture goes nowhere: what it and those before it had to say is let go of, so that nothing piles up.
    ///
    /// - Parameters: See ``carrying(_:fps:step:)``.
    package mutating func passing(_ packet: CodedPacket, fps: Int, step: Int64) {
        guard self.plan != nil, packet.kind == .video, packet.timescale > 0 else { return }
        let frame = TimeMath.rescale(packet.pts, from: Int64(packet.timescale), to: Int64(max(1, fps)))
        self.forget(before: frame, step: max(1, step))
    }

    /// The picture with what it has to say; pictures come in decoding order.
    ///
    /// - Parameters:
    ///   - packet: H.264 with lengths of four bytes, whose `pts` 0 is frame 0 of the program.
    ///   - fps: Frames of the program a second.
    ///   - step: Frames from one picture of the track to the next.
    package mutating func carrying(_ packet: CodedPacket, fps: Int, step: Int64) -> CodedPacket {
        guard self.plan != nil, packet.kind == .video, packet.timescale > 0 else { return packet }
        let frame = TimeMath.rescale(packet.pts, from: Int64(packet.timescale), to: Int64(max(1, fps)))
        let units = self.takeUnits(at: frame, isKey: packet.isKey, step: max(1, step))
        guard !units.isEmpty,
            let memory = PacketInsertion.inserting(units, into: packet.memory, packet.range)
        else { return packet }
        var packet = packet
        packet.memory = memory
        packet.range = 0..<memory.count
        return packet
    }
}
