package import MediaTypes

/// What the packets that wait for their ticks tell about the next ticks.
extension PassthroughGate {
    /// The source that is passed through, if nothing shows that this ends soon: its frames are in time, its key frames keep
    /// their interval, and its waiting packets follow each other without an error. `nil` otherwise.
    ///
    /// A live stream's packets wait for as long as its jitter buffer, but for at most 300 ms, so that most errors are known
    /// that long before passthrough ends.
    package var sureSource: SourceID? {
        guard self.isSteady, let passing = self.passing, passing.released > self.tick,
            let stream = self.streams[passing.source], !stream.isEnded, stream.trouble == nil, !stream.isKeyOverdue
        else { return nil }
        var next = passing.released
        for chunk in stream.chunks {
            guard chunk.isKey ? chunk.isContinued && chunk.first >= next : chunk.first == next else { return nil }
            next = chunk.end
        }
        return passing.source
    }

    /// Returns the source of the tick if a key frame has to be requested now so that passthrough can begin or go on. Each
    /// GOP causes at most one request.
    ///
    /// A publisher that sends key frames only on request would otherwise never be passed through. The request leaves
    /// half a second, or half of the longest GOP if that is shorter, for the key frame to arrive.
    mutating func keyFrameRequest(_ facts: Facts) -> SourceID? {
        guard self.opening == nil, let source = facts.solo, let stream = self.streams[source], let gop = stream.openGop,
            self.asked?.source != source || self.asked?.gop != gop.tick
        else { return nil }
        if let passing = self.passing, passing.source != source || passing.leaving != nil { return nil }
        func isFit(_ target: PassthroughTarget) -> Bool {
            target.refusal(of: stream, limit: nil, isJoining: self.passing == nil) == nil
        }
        guard let target = self.passing?.target ?? self.targets.first(where: isFit), isFit(target) else { return nil }
        let longest = target.longestGop(limit: self.segmentFrames, fps: stream.fps)
        guard gop.frames >= max(longest / 2, longest - stream.fps / 2) else { return nil }
        self.asked = (source, gop.tick)
        return source
    }
}
