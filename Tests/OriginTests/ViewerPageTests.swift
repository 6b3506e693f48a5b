import Testing

import Origin

@Suite("Viewer page")
struct ViewerPageTests {
    @Test("the title is text, whatever it contains")
    func title() {
        let page = ViewerPage.html(title: "<script>alert('1')</script> \"&\" /*script*/ {{title}}")
        #expect(
            page.contains(
                "<h1 id=\"title\">&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &quot;&amp;&quot; /*script*/ {{title}}</h1>"
            ))
        #expect(!page.contains("<script>alert"))
    }

    @Test("the page is whole and loads nothing from elsewhere")
    func selfContained() {
        let page = ViewerPage.html(title: "Room")
        #expect(!page.contains("{{") && !page.contains("/*style*/") && !page.contains("/*script*/"))
        for part in ["class MSEPlayer", "function parseMedia", "#stage {", "Waiting for the first streamer"] {
            #expect(page.contains(part), "\(part)")
        }
        let elsewhere = page.matches(of: /(src|href)=["'](https?:)?\/\/|@import|url\(/)
        #expect(elsewhere.isEmpty)
    }
}
