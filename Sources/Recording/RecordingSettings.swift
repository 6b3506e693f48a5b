/// Settings of a room's recording.
package struct RecordingSettings: Sendable, Hashable {
    /// An MP4 file to make: the tracks that it contains.
    package struct Movie: Sendable, Hashable {
        /// Name of the video track; `nil` for an audio-only file. At least one of the two names is set.
        package var video: String?
        /// Name of the audio track; `nil` for a file without audio.
        package var audio: String?

        package init(video: String?, audio: String?) {
            self.video = video
            self.audio = audio
        }

        /// Name of the file without its extension.
        var name: String { self.video ?? self.audio ?? "recording" }
    }

    /// The recording's directory; created with its parents if it does not exist.
    package var directory: String
    package var roomID: String
    /// Title of the recording for the players' user interface; `nil` for none.
    package var title: String?
    package var movies: [Movie]
    /// File name of the multivariant playlist.
    package var multivariantName: String
    /// Whether the finished recording keeps its segments, with playlists that list all of them.
    package var keepsSegments: Bool
    /// Whether the output waits until listed media is recorded: for jobs that run faster than real time.
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
