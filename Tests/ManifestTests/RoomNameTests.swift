import Manifest
import Testing

@Suite("Room names for orchestrators: RFC 1123, Kubernetes labels")
struct RoomNameTests {
    @Test(
        "a room id that is a valid label is used unchanged after the prefix tandem-",
        arguments: ["88231", "a-b", "room7"])
    func plain(id: String) {
        #expect(RoomName(id).label == "tandem-\(id)")
        #expect(RoomName(id).value == id)
    }

    @Test(
        "for orchestrators, any room id gives a valid DNS label and a valid label value; different ids give different DNS labels"
    )
    func labels() {
        let ids = [
            "A", "a", "a_b", "a.b", "a-b", "-a", "a-", "_", ".", "--", String(repeating: "x", count: 64),
            String(repeating: "x", count: 63) + "y", "Room_7.", "X-1", "x-1",
        ]
        let labels = ids.map { RoomName($0).label }
        #expect(Set(labels).count == ids.count)
        for label in labels {
            #expect(label.count <= 53 && !label.hasSuffix("-"), "\(label)")
            #expect(label.allSatisfy { $0.isASCII && ($0.isLowercase || $0.isNumber || $0 == "-") }, "\(label)")
        }
        for id in ids {
            let value = RoomName(id).value
            #expect(value.count <= 63 && !"_.-".contains(value.last ?? "-") && !"_.-".contains(value.first ?? "-"))
        }
    }
}
