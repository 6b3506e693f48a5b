import MediaTypes
import Room
import Testing

@Suite("Audio tracks named in requests")
struct AudioTrackTests {
    @Test("the error for an unknown audio track is notFound (404) and lists the known ones")
    func unknown() {
        let failure = Room.unknownTrack(9, of: SourceID(uid: "1001"), among: [0, 1])
        #expect(failure.status == 404 && failure.code == "notFound")
        #expect(failure.what == "source 1001 has no audio track 9" && failure.fix == "use one of these tracks: 0, 1")
    }
}
