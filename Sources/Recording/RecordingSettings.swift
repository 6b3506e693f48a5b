/// Settings of a room's recording.
package struct RecordingSettings: Sendable, Hashable {
    /// An MP4 file with video, audio or both.
    package struct Movie: Sendable, Hashable {
        /// Names of tracks; at least one of the two is set.
        package var video: String?
        package var audio: String?

        package init(video: String?, audio: String?) {
            self.video = video
            self.audio = audio
        }

        /// Base name of the file.
        var name: String { self.video ?? self.audio ?? "recording" }
    }

    /// The directory; created with its parents if it does not exist.
    package var directory: String
    package var roomID: String
    /// Title for players' user interface.
    package var title: String?
    package var movies: [Movie]
    /// File name of the multivariant playlist.
    package var multivariantName: String
    /// Keeps the segments, with playlists that list all of them.
    package var keepsSegments: Bool
    /// The output waits until listed media is recorded: for jobs that run faster than real time.
    package var waits = false

    package init(
        directory: String, roomID: String, title: String? = nil, movies: [Movie],
        multivariantName: String = "index.m3u8", keepsSegments: Bool = true
    ) {
        self.directory = directory
        self.roomID = roomID
        self.title = title
        self.movies = movies
        self.multivariantName = multivariantName
        self.keepsSegments = keepsSegments
    }
}
