#include "CPage.h"

#include <stddef.h>

/* One block and one line for each file of page/. AdminServerTests hold this list against the
   folder, so a file that is forgotten here turns them red. */
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char index_html[] = {
#embed "../../../page/index.html"
};

static const unsigned char page_css[] = {
#embed "../../../page/page.css"
};

static const unsigned char page_js[] = {
#embed "../../../page/page.js"
};

static const unsigned char dom_js[] = {
#embed "../../../page/dom.js"
};

static const unsigned char live_js[] = {
#embed "../../../page/live.js"
};

static const unsigned char timeline_js[] = {
#embed "../../../page/timeline.js"
};

static const unsigned char ride_js[] = {
#embed "../../../page/ride.js"
};

static const unsigned char search_js[] = {
#embed "../../../page/search.js"
};

static const unsigned char decision_js[] = {
#embed "../../../page/decision.js"
};

static const unsigned char cards_js[] = {
#embed "../../../page/cards.js"
};

static const unsigned char phone_js[] = {
#embed "../../../page/phone.js"
};

static const unsigned char phone_css[] = {
#embed "../../../page/phone.css"
};

static const unsigned char story_js[] = {
#embed "../../../page/story.js"
};

static const unsigned char story_chart_js[] = {
#embed "../../../page/story-chart.js"
};

static const unsigned char story_css[] = {
#embed "../../../page/story.css"
};

static const unsigned char screens_js[] = {
#embed "../../../page/screens.js"
};

static const unsigned char screens_css[] = {
#embed "../../../page/screens.css"
};

static const unsigned char icon_svg[] = {
#embed "../../../page/icon.svg"
};

static const unsigned char inbox_html[] = {
#embed "../../../page/inbox.html"
};

static const unsigned char inbox_css[] = {
#embed "../../../page/inbox.css"
};

static const unsigned char inbox_js[] = {
#embed "../../../page/inbox.js"
};

static const unsigned char inbox_phone_js[] = {
#embed "../../../page/inbox-phone.js"
};

static const unsigned char inbox_message_js[] = {
#embed "../../../page/inbox-message.js"
};

const struct ridepulse_page_file ridepulse_page_files[] = {
    {"index.html", index_html, sizeof index_html},
    {"page.css", page_css, sizeof page_css},
    {"page.js", page_js, sizeof page_js},
    {"dom.js", dom_js, sizeof dom_js},
    {"live.js", live_js, sizeof live_js},
    {"timeline.js", timeline_js, sizeof timeline_js},
    {"ride.js", ride_js, sizeof ride_js},
    {"search.js", search_js, sizeof search_js},
    {"decision.js", decision_js, sizeof decision_js},
    {"cards.js", cards_js, sizeof cards_js},
    {"phone.js", phone_js, sizeof phone_js},
    {"phone.css", phone_css, sizeof phone_css},
    {"story.js", story_js, sizeof story_js},
    {"story-chart.js", story_chart_js, sizeof story_chart_js},
    {"story.css", story_css, sizeof story_css},
    {"screens.js", screens_js, sizeof screens_js},
    {"screens.css", screens_css, sizeof screens_css},
    {"icon.svg", icon_svg, sizeof icon_svg},
    {"inbox.html", inbox_html, sizeof inbox_html},
    {"inbox.css", inbox_css, sizeof inbox_css},
    {"inbox.js", inbox_js, sizeof inbox_js},
    {"inbox-phone.js", inbox_phone_js, sizeof inbox_phone_js},
    {"inbox-message.js", inbox_message_js, sizeof inbox_message_js},
    {NULL, NULL, 0},
};
