import Foundation
import Glibc

/// Operates a page as a user does, by mouse and key events of the DevTools protocol. Counts its actions.
final class Hand {
    private let tab: Tab
    private(set) var actions = 0

    init(_ tab: Tab) { self.tab = tab }

    /// Clicks an element, once it is visible, enabled and in its place, and nothing lies over it.
    ///
    /// If the page has moved the element in the same moment, the click does not arrive, and the hand clicks again, as a
    /// user does.
    func click(_ selector: String) throws {
        for _ in 0..<3 {
            let (x, y) = try self.place(of: selector)
            try self.tab.evaluate(
                """
                window.hit = 'no';
                document.addEventListener('click', (event) => {
                  window.hit = event.target.closest('\(selector)') ? 'yes' : 'other';
                }, { capture: true, once: true });
                ''
                """)
            try self.mouse("mouseMoved", x, y)
            try self.mouse("mousePressed", x, y)
            try self.mouse("mouseReleased", x, y)
            self.actions += 1
            for _ in 0..<10 {
                if try self.tab.evaluate("window.hit") == "yes" { return }
                usleep(20_000)
            }
            EndToEnd.report("a click on \(selector) did not arrive: \(try self.tab.evaluate("window.hit"))")
        }
        throw Missing("clicks on \(selector) do not arrive")
    }

    /// Drags an element by a distance in CSS pixels.
    func drag(_ selector: String, _ dx: Double, _ dy: Double) throws {
        let (x, y) = try self.place(of: selector)
        try self.mouse("mouseMoved", x, y)
        try self.mouse("mousePressed", x, y)
        for step in 1...4 {
            try self.mouse("mouseMoved", x + dx * Double(step) / 4, y + dy * Double(step) / 4, isDown: true)
        }
        try self.mouse("mouseReleased", x + dx, y + dy)
        self.actions += 1
    }

    /// Presses and releases a key, such as `Enter`, `Tab` or `1`.
    func press(_ key: String) throws {
        let codes = ["Enter": 13, "Tab": 9, " ": 32, "ArrowRight": 39]
        let text = key == "Enter" ? "\r" : key.count == 1 ? key : ""
        let code = codes[key] ?? Int(key.uppercased().unicodeScalars.first?.value ?? 0)
        try self.tab.browser.call(
            "Input.dispatchKeyEvent",
            ["type": text.isEmpty ? "rawKeyDown" : "keyDown", "key": key, "text": text, "windowsVirtualKeyCode": code],
            self.tab.session)
        try self.tab.browser.call(
            "Input.dispatchKeyEvent", ["type": "keyUp", "key": key, "windowsVirtualKeyCode": code], self.tab.session)
        self.actions += 1
    }

    /// Moves the focus to an element with the Tab key.
    func tabTo(_ selector: String, atMost: Int = 120) throws {
        for _ in 0..<atMost {
            try self.press("Tab")
            if try self.tab.evaluate("document.activeElement?.matches('\(selector)') ? 'yes' : 'no'") == "yes" {
                return
            }
        }
        throw Missing("\(selector) cannot be reached with \(atMost) presses of Tab")
    }

    private func mouse(_ type: String, _ x: Double, _ y: Double, isDown: Bool = false) throws {
        let isButton = type != "mouseMoved" || isDown
        try self.tab.browser.call(
            "Input.dispatchMouseEvent",
            [
                "type": type, "x": x, "y": y, "button": isButton ? "left" : "none",
                "buttons": type == "mousePressed" || isDown ? 1 : 0, "clickCount": type == "mouseMoved" ? 0 : 1,
            ], self.tab.session)
    }

    /// The middle of an element that can be clicked and has not moved for 30 ms.
    private func place(of selector: String) throws -> (x: Double, y: Double) {
        let script = """
            (() => {
              const element = document.querySelector('\(selector)');
              if (!element || element.disabled) return '';
              element.scrollIntoView({ block: 'center' });
              const { x, y, width, height } = element.getBoundingClientRect(), middle = [x + width / 2, y + height / 2];
              const hit = document.elementFromPoint(...middle);
              return width && (hit === element || element.contains(hit)) ? middle.join(' ') : '';
            })()
            """
        let deadline = Date(timeIntervalSinceNow: 10)
        var last: [Double] = []
        while true {
            let numbers = try self.tab.evaluate(script).split(separator: " ").compactMap { Double($0) }
            if numbers.count == 2, numbers == last { return (numbers[0], numbers[1]) }
            guard Date() < deadline else { throw Missing("\(selector) cannot be clicked") }
            last = numbers
            usleep(30_000)
        }
    }
}
