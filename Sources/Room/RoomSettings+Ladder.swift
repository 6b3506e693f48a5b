import Packager

extension RoomSettings {
    /// Keeps the default renditions of a room that runs in the output directory: another version of the program may
    /// have others, and an upgrade must not change what players have. A new session gets the current default.
    package mutating func keepLadder() {
        guard !self.newSession, var document = self.document, let output = self.pipeline.hls,
            let running = HLSPackager.running(in: output.path)
        else { return }
        document.keepLadder(tracks: running.tracks, hasAudioOnly: running.hasAudioOnly)
        self.document = document
        self.pipeline = document.pipeline
    }
}
