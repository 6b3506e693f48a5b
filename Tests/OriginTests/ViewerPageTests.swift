import Testing

import Origin

@Suite("Viewer page")
struct ViewerPageTests {
    @Test("a room title with markup is escaped")
    func title() {
        let page = ViewerPage.html(title: "<script>alert('1')</script> \"&\" /*script*/ {{title}}")
        #expect(
            page.contains(
                "<h1 id=\"title\">&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &quot;&amp;&quot; /*script*/ {{title}}</h1>"
            ))
        #expect(!page.contains("<script>alert"))
    }

    @Test("the page is complete and loads nothing from other servers")
    func selfContained() {
        let page = ViewerPage.html(title: "Room")
        #expect(!page.contains("{{") && !page.contains("/*style*/") && !page.contains("/*script*/"))
        for part in ["class MSEPlayer", "function parseMedia", "#stage {", "Waiting for the first streamer"] {
            #expect(page.contains(part), "\(part)")
        }
        let elsewhere = page.matches(of: /(src|href)=["'](https?:)?\/\/|@import|url\(/)
        #expect(elsewhere.isEmpty)
    }

    @Test("the page names the multivariant playlist as configured, index.m3u8 by default")
    func playlist() {
        #expect(ViewerPage.html(title: "Room").contains("data-playlist=\"index.m3u8\""))
        let page = ViewerPage.html(title: "Room", playlist: "live.m3u8")
        #expect(page.contains("data-playlist=\"live.m3u8\"") && !page.contains("index.m3u8"))
    }

    @Test(
        "the page's Content-Security-Policy allows the room's key server and no other server",
        arguments: [
            ("https://keys.example/{track}/{period}", "https://keys.example"),
            ("http://10.0.0.1:8443?p={period}&t={track}", "http://10.0.0.1:8443"), ("https://[::1]/k", "https://[::1]"),
            ("https://{track}.example/{period}", nil), ("https://a;script-src/x", nil), ("https:///k", nil),
            ("https://u:p@keys.example/k", nil), ("ftp://keys.example/k", nil),
        ] as [(String, String?)])
    func keys(uri: String, origin: String?) {
        #expect(ViewerPage.origin(of: uri) == origin)
        let policy = ViewerPage.contentSecurityPolicy(keyURI: uri)
        #expect(policy.contains("connect-src 'self'\(origin.map { " \($0)" } ?? "");"))
        #expect(ViewerPage.contentSecurityPolicy().contains("connect-src 'self';"))
    }
}
