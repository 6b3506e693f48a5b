/// What `tandem demo` prints when its room is ready. No line is wrapped on a terminal of 80 columns if the addresses are
/// those of the default ports.
package struct DemoText: Sendable, Equatable {
    /// The control page.
    package var control: String
    /// The viewers' page, which is also the base of the playlist's URL.
    package var viewer: String
    /// The RTMP listener: `rtmp://HOST:PORT`.
    package var rtmp: String
    /// The WHIP endpoint: `http://HOST:PORT/whip/live`; `nil` if there is none.
    package var whip: String?
    /// The directory of the HLS files.
    package var output: String

    package init(control: String, viewer: String, rtmp: String, whip: String?, output: String) {
        self.control = control
        self.viewer = viewer
        self.rtmp = rtmp
        self.whip = whip
        self.output = output
    }

    package var text: String {
        // The page that publishes is at the root of the same listener; it takes the key from the fragment.
        let browser = self.whip.map { whip in
            "  browser   \(whip.split(separator: "/").prefix(2).joined(separator: "//"))/#key=anna\n"
        }
        return """
            Tandem: ANNA and BEN publish over RTMP; the room alternates between solo and PK.

              control   \(self.control)/
              watch     \(self.viewer)/
              playlist  \(self.viewer)/index.m3u8
              files     \(self.output)/index.m3u8

            Publish in place of ANNA, or with the key ben in place of BEN:

              OBS       server \(self.rtmp)/live  key anna
              ffmpeg -re -i clip.mp4 -c copy -f flv \(self.rtmp)/live/anna
            \(browser ?? "")
              stop      Ctrl-C

            """
    }
}
