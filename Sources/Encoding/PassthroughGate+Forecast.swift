package import MediaTypes

/// What the packets that wait for their ticks tell about the next ticks.
extension PassthroughGate {
    /// The source that is passed through, if nothing shows that this ends soon: its frames are in time, its key frames keep
    /// their interval, and its waiting packets follow each other without an error. `nil` otherwise.
    ///
    /// A live stream's packets wait for as long as its jitter buffer, so that most errors are known that long before
    /// passthrough ends.
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
}
