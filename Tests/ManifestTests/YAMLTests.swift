import Manifest
import Testing

@Suite("YAML output: YAML 1.2.2")
struct YAMLTests {
    @Test("the YAML writer writes maps, lists, lists of maps, flow forms, comments and blocks in YAML")
    func shapes() {
        let node = YAMLNode.map([
            YAMLEntry("kind", "Job"), YAMLEntry("count", 3), YAMLEntry("on", true),
            YAMLEntry(
                "list", .list(["a", .map([YAMLEntry("b", 1), YAMLEntry("c", .list([2]))])]), "What", "is there."),
            YAMLEntry("flow", .flow(["x": "1", "y": .words(["a", "no"])])),
            YAMLEntry("none", .list([])), YAMLEntry("empty", .map([])), YAMLEntry("text", .block("{\n  a\n\n}\n")),
            YAMLEntry("cut", .block("a\nb")),
        ])
        #expect(
            node.document == """
                kind: Job
                count: 3
                "on": true
                # What
                # is there.
                list:
                  - a
                  - b: 1
                    c:
                      - 2
                flow: {x: "1", "y": [a, "no"]}
                none: []
                empty: {}
                text: |
                  {
                    a

                  }
                cut: |-
                  a
                  b

                """)
    }

    @Test(
        "the YAML writer quotes strings that a YAML parser would read as another type or as syntax",
        arguments: [
            ("", "\"\""), ("yes", "\"yes\""), ("No", "\"No\""), ("null", "\"null\""), ("~", "\"~\""),
            ("1e3", "\"1e3\""),
            ("0x1", "\"0x1\""), ("12:30", "\"12:30\""), ("- a", "\"- a\""), ("a: b", "\"a: b\""), ("a #b", "\"a #b\""),
            ("$x", "\"$x\""), ("tab\t", "\"tab\\t\""), ("line\n", "\"line\\n\""), ("quote\"\\", "\"quote\\\"\\\\\""),
            ("\u{85}", "\"\\U00000085\""), ("\u{2028}", "\"\\U00002028\""), ("한국", "\"한국\""),
            ("a-b_c.d/e", "a-b_c.d/e"),
            ("*x", "\"*x\""), ("&x", "\"&x\""), ("!x", "\"!x\""), ("%x", "\"%x\""), ("@x", "\"@x\""), ("`x", "\"`x\""),
        ])
    func quoting(text: String, written: String) {
        #expect(YAMLNode.map([YAMLEntry("k", .text(text))]).document == "k: \(written)\n")
    }

    @Test(
        "the YAML writer writes block text as a quoted string if it is empty or has leading spaces, extra newlines or control characters"
    )
    func blocks() {
        for text in ["", " a", "\na", "a\n\n", "a\u{7}b"] {
            #expect(
                YAMLNode.map([YAMLEntry("k", .block(text))]).document.hasPrefix("k: \""), "\(text.debugDescription)")
        }
    }
}
