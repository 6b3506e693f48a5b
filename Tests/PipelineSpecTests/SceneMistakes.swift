/// Mistakes in the members of scenes, in watermarks and in the canvas, for ``PipelineMistakeTests``.
enum SceneMistakes {
    typealias Case = PipelineMistakeTests.Case

    static let all = Self.lengths + Self.panes + Self.decorations + Self.policies

    /// A mistake in members that are added to the solo scene.
    private static func solo(_ members: String, _ path: String, _ what: String, _ fix: String) -> Case {
        Case(#""sceneId": "solo","#, #""sceneId": "solo", \#(members),"#, "scenes[0].\(path)", what, fix)
    }

    /// A mistake in members that are added to the first pane of the pk scene.
    private static func pane(_ members: String, _ path: String, _ what: String, _ fix: String) -> Case {
        Case(
            PipelineMistakeTests.pane, #"{ "uid": "1001", "width": 640, "height": 720, \#(members) }"#,
            "scenes[1].panes[0].\(path)", what, fix)
    }

    static let lengths: [Case] = [
        Self.pane(
            #""x": ^"half""#, "x", #""half" is not a length"#, #"write pixels from 0 to 1920, or percent such as "50%""#
        ),
        Self.pane(
            #""x": ^"101%""#, "x", #""101%" is not a length"#, #"write pixels from 0 to 1920, or percent such as "50%""#
        ),
        Self.pane(
            #""x": ^1.5"#, "x", "is a number with a fraction, not a length",
            #"write pixels from 0 to 1920, or percent such as "50%""#),
        Case(
            PipelineMistakeTests.pane, #"{ "uid": "1001", "x": "60%", "width": ^"50%", "height": 720 }"#,
            "scenes[1].panes[0].width", "the pane ends at x = 1408, outside the canvas of 1280x720",
            "lower width to 512, or x"),
        Case(
            PipelineMistakeTests.pane, #"{ "uid": "1001", "width": ^"0.1%", "height": 720 }"#,
            "scenes[1].panes[0].width", "the pane has no pixels on a canvas of 1280x720", "write at least 2 pixels"),
    ]

    static let panes: [Case] = [
        Self.pane(
            #""crop": {"x": ^10}"#, "crop.x", "is an integer, not a percentage",
            #"write percent of the video, such as "12.5%""#),
        Self.pane(
            #""crop": {"x": "60%", "width": ^"50%"}"#, "crop.width", "the part ends at 110% of the video",
            #"lower it to "40%""#),
        Self.pane(
            #""crop": {"height": ^"0.5%"}"#, "crop.height", "less than 1% of the video is left",
            #"leave at least "1%""#),
        Self.pane(
            #""border": {"width": ^65}"#, "border.width", "65 is out of range", "write an integer from 0 to 64"),
        Case(
            PipelineMistakeTests.pane,
            #"{ "uid": "1001", "width": 64, "height": 64, "border": {"width": ^40} }"#,
            "scenes[1].panes[0].border.width", "leaves no space inside a pane of 64x64", "write at most 31"),
        Self.pane(
            #""cornerRadius": ^-1"#, "cornerRadius", "-1 is out of range", "write an integer from 0 to 960"),
    ]

    static let decorations: [Case] = [
        Self.solo(
            #""images": [{"path": ^"https://cdn/x.png", "width": 8, "height": 8}]"#, "images[0].path",
            #""https://cdn/x.png" is a URL, and images are not downloaded"#,
            "save the image on this machine and write its path"),
        Self.solo(
            #""images": [{"path": "x.png", "x": 1200, "width": ^100, "height": 8}]"#, "images[0].width",
            "the image ends at x = 1300, outside the canvas of 1280x720", "lower width to 80, or x"),
        Self.solo(
            #""images": [{"path": "x.png", "width": 8, "height": 8, "alpha": ^1.5}]"#, "images[0].alpha",
            "1.5 is out of range", "write a number from 0 to 1, such as 0.8"),
        Self.solo(
            #""images": [{"path": "x.png", "width": 8, "height": 8, "alpha": ^"80%"}]"#, "images[0].alpha",
            "is a string, not a number", "write a number from 0 to 1, such as 0.8"),
        Self.solo(
            #""texts": [{"textId": "a"}, {"textId": ^"a"}]"#, "texts[1].textId",
            #""a" is already used by scenes[0].texts[0]"#, "use another id"),
        Self.solo(
            #""texts": [{"textId": "a", "x": ^1300}]"#, "texts[0].x", "1300 is outside the canvas of 1280x720",
            "write at most 1280"),
        Self.solo(
            #""texts": [{"textId": "a", "text": ^"1\n2"}]"#, "texts[0].text", ##""1\n2" is not valid"##,
            "write up to 256 characters of text without line breaks"),
        Self.solo(
            #""texts": [{"textId": "a", "align": ^"middle"}]"#, "texts[0].align", #""middle" is not allowed here"#,
            #"write "left", "center" or "right""#),
        Self.solo(
            #""scoreBars": [^{"scoreId": "a", "width": 100}]"#, "scoreBars[0].height", "is missing",
            #"add "height": height in pixels (an odd number is lowered to even), or in percent of the canvas"#),
        Self.solo(
            #""countdowns": [{"countdownId": "c", "seconds": ^90000}]"#, "countdowns[0].seconds",
            "90000 is out of range", "write an integer from 0 to 86,400"),
        Self.solo(
            #""countdowns": [{"countdownId": "c", "of": "pk", "seconds": ^5}]"#, "countdowns[0].seconds",
            #"cannot be combined with "of": "pk", where the duration comes from the phases of the PK"#, "remove it"),
        Self.solo(
            #""transition": {"type": ^"fade"}"#, "transition.type", #""fade" is not allowed here"#,
            #"write "cut", "crossfade" or "slide""#),
        Self.solo(
            #""transition": {"durationMs": ^500}"#, "transition.durationMs", "does not apply to a cut",
            #"remove it, or write "type": "crossfade" or "slide""#),
        Self.solo(
            #""transition": {"type": "crossfade", "direction": ^"up"}"#, "transition.direction",
            "applies only to slides",
            #"remove it, or write "type": "slide""#),
        Case(
            #""room": {"#, #""watermarks": [{"path": "w.png", "y": "95%", "width": 8, "height": ^"10%"}], "room": {"#,
            "watermarks[0].height", "the image ends at y = 756, outside the canvas of 1280x720",
            "lower height to 36, or y"),
        Case(
            #""fps": 30"#, #""fps": 30, "bgImages": [{"path": ^""}]"#, "canvas.bgImages[0].path", #""" is not valid"#,
            "write a path of 1 to 4096 bytes"),
    ]

    static let policies: [Case] = [
        Case(
            #""fps": 30"#, #""fps": 30, "policy": ^"perscene""#, "canvas.policy", #""perscene" is not allowed here"#,
            #"did you mean "perScene"?"#),
        Self.solo(
            #""canvas": ^{"width": 720, "height": 640}"#, "canvas", "the canvas has one size for all scenes",
            #"remove it, or write "policy": "perScene" in the pipeline's canvas"#),
        Case(
            #""layout": "solo", "uids": ["1001"]"#, #""layout": "pip", "uids": ^["1001"]"#, "scenes[0].uids",
            "pip takes 2 users, but 1 is given", "name 2, or use solo"),
    ]
}
