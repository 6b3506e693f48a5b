/// Where a room is recorded, and what is made of it.
package struct RecordingSettings: Sendable, Hashable {
    /// A file with a picture and its sound.
    package struct Movie: Sendable, Hashable {
        /// Names of tracks; one of the two at least.
        package var video: String?
        package var audio: String?

        package init(video: String?, audio: String?) {
            self.video = video
            self.audio = audio
        }

        /// Names the file.
        var name: String { self.video ?? self.audio ?? "recording" }
    }

    /// The directory; made with its parents if it is not there.
    package var directory: String
    package var roomID: String
    /// For players' user interface.
    package var title: String?
    package var movies: [Movie]
    /// File name of the multivariant playlist.
    package var multivariantName: String
    /// The segments stay, with playlists that list all of them.
    package var keepsSegments: Bool
    /// The output waits until what it lists is kept: for jobs that run as fast as they can.
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
